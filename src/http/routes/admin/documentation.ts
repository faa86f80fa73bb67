import type { RouteOptions } from 'fastify'
import { CONFIGURATION_OPERATIONS } from './configuration-operations.ts'
import { MESSAGE_OPERATIONS } from './message-operations.ts'

const OPERATIONS = { ...CONFIGURATION_OPERATIONS, ...MESSAGE_OPERATIONS }

/** What the OpenAPI document says of a route in addition to its schemas. */
export function documentationOf({ method, url, prefix }: RouteOptions & { prefix: string }): object {
  const operation = OPERATIONS[`${method} ${url.slice(prefix.length)}`]
  if (operation === undefined) return {}
  const [operationId, summary, description] = operation
  return { operationId, summary, description }
}

/** The tags of the operators' document. */
export const OPERATOR_TAGS = [
  ['Accounts', 'Customers, with their webhook secrets and rate limits.'],
  ['Service plans', 'What a customer sends and receives under.'],
  ['Tokens', "Credentials of the customers' API."],
  ['Senders', 'Senders that a service plan may use.'],
  ['Sender rules', 'Kinds of sender that a country allows.'],
  ['Inbound numbers', 'Numbers that people send messages to.'],
  ['Opt-outs', 'Recipients that want nothing more from a sender.'],
  ['Carriers', 'SMSCs that the service binds to.'],
  ['Routes', 'Carriers by priority and weight, and which of them a message takes.'],
  ['Routing rules', 'Exceptions from the route of a service plan.'],
  ['Number ranges', 'Networks of number prefixes.'],
  ['Rates', 'What a segment costs.'],
  ['Quality', 'How carriers do in each route.'],
  ['Queue', 'What waits, and why.'],
  ['Secrets', 'What is sealed with the key of the service.'],
  ['Message search', 'Outbound messages of all service plans, with their history.'],
  ['Inbound message search', 'Inbound messages of all service plans, and those that nobody owns.'],
  ['Webhook administration', 'Events of all service plans, and where they are delivered.'],
].map(([name, description]) => ({ name, description }))
