import { CONFIGURATION_KINDS, type KindName } from '../../domain/configuration/configuration-changes.ts'
import { ACCOUNTS } from './accounts.ts'
import { CARRIERS } from './carriers.ts'
import { NUMBERS } from './inbound-numbers.ts'
import type { Kind } from './kind.ts'
import { RANGES } from './number-ranges.ts'
import { RATES } from './rates.ts'
import { ROUTES } from './routes.ts'
import { RULES, SENDER_RULES } from './rules.ts'
import { SENDERS } from './senders.ts'
import { SENDSMS_USERS } from './sendsms-users.ts'
import { PLANS } from './service-plans.ts'

const KIND_OF: Readonly<Record<KindName, Kind>> = {
  accounts: ACCOUNTS,
  carriers: CARRIERS,
  routes: ROUTES,
  plans: PLANS,
  senders: SENDERS,
  numbers: NUMBERS,
  sendsmsUsers: SENDSMS_USERS,
  rules: RULES,
  senderRules: SENDER_RULES,
  rates: RATES,
  ranges: RANGES,
}

/** In an order in which none names one of a later kind. */
export const KINDS: readonly Kind[] = CONFIGURATION_KINDS.map((name) => KIND_OF[name])
