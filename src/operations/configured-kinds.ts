import { CONFIGURATION_KINDS, type KindName } from '../domain/configuration-changes.ts'
import type { Kind } from './configuration-scene.ts'
import { ACCOUNTS } from './configured-accounts.ts'
import { CARRIERS, ROUTES } from './configured-carriers.ts'
import { NUMBERS, PLANS, SENDERS } from './configured-plans.ts'
import { SENDSMS_USERS } from './configured-sendsms-users.ts'
import { RANGES, RATES, RULES, SENDER_RULES } from './configured-tables.ts'

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
