import { Group, Paper, Text } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'
import { quoted, type ShellWord } from './shell-word.ts'

/** The command line that does the same: `<CommandLine words={['carrier', 'create', name, '--host', host]} />`. */
export function CommandLine({ words }: { words: readonly ShellWord[] }) {
  const line = ['aldis', ...words].map(quoted).join(' ')
  return (
    <Paper withBorder px="sm" py={6}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text
          component="code"
          className="aldis-mono"
          aria-label="Command line"
          style={{ overflowWrap: 'anywhere' }}
        >
          {line}
        </Text>
        <CopyButton value={line} label="Copy the command line" />
      </Group>
    </Paper>
  )
}
