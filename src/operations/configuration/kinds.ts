import { CONFIGURATION_KINDS, type KindName } from '../../domain/configuration/configuration-changes.ts'
import { ACCOUNTS, SENDSMS_USERS } from './accounts.ts'
import { CARRIERS, ROUTES } from './carriers.ts'
import type { Kind } from './scene.ts'
import { NUMBERS, PLANS, SENDERS } from './service-plans.ts'
import { RANGES, RATES, RULES, SENDER_RULES } from './tables.ts'

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
