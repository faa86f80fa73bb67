import { useQueries } from '@tanstack/react-query'
import { operatorQuery } from '../../api/queries.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { Section } from '../../kit/section.tsx'
import { PageLink } from './attention.tsx'

const LISTS = [
  'listCarriers',
  'listRoutes',
  'listAccounts',
  'listServicePlans',
  'listInboundNumbers',
  'listTokens',
] as const

interface Step {
  readonly title: string
  readonly why: string
  readonly to: string
  readonly words: readonly string[]
}

/** In the order of LISTS, which is the order in which one needs the other. */
const STEPS: readonly Step[] = [
  {
    title: 'Add a carrier',
    why: 'The SMPP connection that takes messages.',
    to: '/admin/carriers',
    words: [
      'carrier',
      'create',
      'acme',
      '--host',
      'smpp.example.net',
      '--port',
      '2775',
      '--system-id',
      'you',
    ],
  },
  {
    title: 'Add a route',
    why: 'Which carriers take the messages of a service plan.',
    to: '/admin/routes',
    words: ['route', 'create', 'default', '--carrier', 'acme'],
  },
  {
    title: 'Add an account',
    why: 'A customer, who owns service plans and tokens.',
    to: '/admin/accounts',
    words: ['account', 'create', '--name', 'Example Ltd'],
  },
  {
    title: 'Add a service plan',
    why: 'What a customer sends with: its route, its limits and its senders.',
    to: '/admin/plans',
    words: ['plan', 'create', '--account', 'ACCOUNT', '--name', 'Main', '--route', 'default'],
  },
  {
    title: 'Add an inbound number',
    why: 'Replies to it go to its service plan.',
    to: '/admin/numbers',
    words: ['number', 'create', '+15557654321', '--plan', 'PLAN'],
  },
  {
    title: 'Create a token',
    why: 'The customer sends with it, and signs in here.',
    to: '/admin/tokens',
    words: ['token', 'create', '--account', 'ACCOUNT', '--name', 'backend'],
  },
]

/** What is still missing before messages can be sent; nothing when all is there. Asked only while there is no message. */
export function Setup() {
  const missing = useQueries({
    queries: LISTS.map((id) => operatorQuery(id, { limit: '1' })),
    combine: (answers) => STEPS.filter((_, index) => answers[index]?.data?.items.length === 0),
  })
  if (missing.length === 0) return null
  return (
    <Section title="Set up: what is missing">
      <ol className="aldis-steps">
        {missing.map(({ title, why, to, words }) => (
          <li key={title}>
            <div>
              <PageLink to={to}>{title}</PageLink>
              <span className="aldis-means">{why}</span>
            </div>
            <CommandLine words={words} />
          </li>
        ))}
      </ol>
    </Section>
  )
}
