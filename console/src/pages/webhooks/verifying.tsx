import { Anchor, Code, Text } from '@mantine/core'
import { CommandLine } from '../../kit/command-line.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { Section } from '../../kit/section.tsx'

/** A receiver to begin with. */
export function Listening() {
  return (
    <Section title="A receiver on your machine">
      <Text size="sm" mb="sm">
        This command shows each webhook and checks its signature, on port 9000. A service of “npm start” on
        the same machine pushes to it: send with the callback URL <Code>http://localhost:9000</Code>. Other
        services push to public https addresses only.
      </Text>
      <CommandLine words={['listen']} />
    </Section>
  )
}

/** How a receiver knows that an event is from here. */
export function Verifying() {
  return (
    <Section title="Verifying a signature">
      <Text size="sm" mb="sm">
        Events are signed as Standard Webhooks describes, with the webhook secret of the account (
        <Code>whsec_…</Code>). Verify the body as it arrived, before any parsing.
      </Text>
      <KeyValues
        entries={[
          ['webhook-id', 'Id of the event, the same at each attempt.'],
          ['webhook-timestamp', 'Unix seconds of the attempt. Refuse one that is more than 5 minutes off.'],
          [
            'webhook-signature',
            '“v1,” and the base64 of HMAC-SHA-256 over id.timestamp.body. There are two while the secret is rotated.',
          ],
        ]}
      />
      <ul className="aldis-list">
        <li>
          In Node.js, <Code>verifyWebhook</Code> of <Code>aldis-client</Code> does it; so do the libraries of
          Standard Webhooks.
        </li>
        <li>
          docs/webhooks.md has it in Node.js, Python, PHP and Go without a library. The{' '}
          <Anchor href="/docs" size="sm" underline="always">
            API reference
          </Anchor>{' '}
          has the bodies.
        </li>
      </ul>
    </Section>
  )
}
