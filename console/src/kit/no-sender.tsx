import { Alert } from '@mantine/core'
import { CommandLine } from './command-line.tsx'

/** In the place where a sender would be: the plan has none. */
export function NoSender({ planId }: { planId: string }) {
  return (
    <Alert color="orange" variant="light" title="This plan has no approved sender" mb="md" ta="left">
      Every send is refused until an operator approves one:
      <CommandLine words={['sender', 'create', planId, 'SENDER', '--status', 'approved']} />
    </Alert>
  )
}
