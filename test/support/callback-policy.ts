import type { CallbackPolicy } from '../../src/domain/webhooks/callback-url.ts'

/** Only public addresses and names, as `aldis serve` has it without settings. */
export const STRICT_CALLBACK_POLICY: CallbackPolicy = {
  allowCidrs: [],
  allowHosts: [],
  allowLoopback: false,
  allowUnresolvable: false,
  ownOrigins: [],
}
