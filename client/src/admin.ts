import { OPERATIONS, type Operations } from './admin-api.ts'
import { type Client, clientClass } from './client.ts'

/** The admin API; `token` is an operator's. */
export const AldisAdminClient = clientClass<Operations>(OPERATIONS)
export type AldisAdminClient = Client<Operations>

export type * from './admin-api.ts'
export type { CallOptions, ClientOptions } from './client.ts'
export { AldisError } from './errors.ts'
