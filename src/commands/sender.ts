import type { Command } from 'commander'
import { type ConnectionOptions, segment } from './admin-client.ts'
import { addAction, addPageOptions, printList, requestAndPrint } from './resource.ts'

const EXAMPLES = `
Examples:
  aldis sender set 65a1c0ffee0123456789abcd Example approved
  aldis sender set 65a1c0ffee0123456789abcd +46701234567 pending
  aldis sender list 65a1c0ffee0123456789abcd`

export function register(program: Command): void {
  const sender = program
    .command('sender')
    .description('Senders a service plan is subscribed to')
    .addHelpText('after', EXAMPLES)

  addAction(
    sender,
    'set <servicePlanId> <sender> <status>',
    'subscribe a plan to a sender: approved, pending or denied',
  )
    .option('--force', 'accept any other status; sends are answered 422 while it is set')
    .action(
      (
        servicePlanId: string,
        from: string,
        status: string,
        { force, ...options }: ConnectionOptions & { force?: true },
      ) => requestAndPrint(options, 'PUT', path(servicePlanId, from), { status, force }),
    )

  const list = addAction(sender, 'list <servicePlanId>', 'list the senders of a plan')
  const columns = { SENDER: 'sender', STATUS: 'status', CREATED: 'createdAt' }
  addPageOptions(list).action((servicePlanId: string, options: ConnectionOptions) =>
    printList(options, `/service-plans/${segment(servicePlanId)}/senders`, columns),
  )

  addAction(sender, 'show <servicePlanId> <sender>', 'show a subscription').action(
    (servicePlanId: string, from: string, options: ConnectionOptions) =>
      requestAndPrint(options, 'GET', path(servicePlanId, from)),
  )
  addAction(sender, 'delete <servicePlanId> <sender>', 'end a subscription').action(
    (servicePlanId: string, from: string, options: ConnectionOptions) =>
      requestAndPrint(options, 'DELETE', path(servicePlanId, from)),
  )
}

function path(servicePlanId: string, sender: string): string {
  return `/service-plans/${segment(servicePlanId)}/senders/${segment(sender)}`
}
