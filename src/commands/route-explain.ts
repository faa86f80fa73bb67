import type { Command } from 'commander'
import { type ConnectionOptions, requestAdmin } from './admin-client.ts'
import { type Fields, printFields, printJson, printTable } from './printing.ts'
import { addAction } from './resource.ts'

const EXAMPLES = `
Examples:
  aldis route explain --plan 65a1c0ffee0123456789abcd --from Example --to +447400123456
  aldis route explain --plan 65a1c0ffee0123456789abcd --from 12345 --to +46701234567 --body 'Your code is 1234'

Nothing is sent. SHARE is the percentage of such messages that each carrier currently gets.`

interface ExplainOptions extends ConnectionOptions {
  readonly plan: string
  readonly from: string
  readonly to: string
  readonly body?: string
}

interface Rule extends Fields {
  readonly ruleId: number
}

interface Explanation extends Fields {
  readonly problems: readonly { errorCode: string; errorMessage: string }[]
  readonly route: string | null
  readonly rule: Rule | null
  readonly carriers: readonly (Fields & { carrier: string; share: number; reason: string | null })[]
  readonly charge: { price: string; ptf: string; currency: string; rate: Fields } | null
}

/** Adds `explain` below the command of routes. */
export function addExplain(route: Command): void {
  addAction(route, 'explain', 'say which carrier a message would take, why, and what it would cost')
    .requiredOption('--plan <servicePlanId>', 'plan that sends it')
    .requiredOption('--from <sender>', 'its sender')
    .requiredOption('--to <number>', 'its recipient')
    .option('--body <text>', 'its text; without it, one segment is assumed')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ExplainOptions) => {
      const query = new URLSearchParams({
        servicePlanId: options.plan,
        from: options.from,
        to: options.to,
        ...(options.body !== undefined && { body: options.body }),
      })
      const answer = await requestAdmin(options, 'GET', `/route-explanation?${query}`)
      if (options.json) printJson(answer)
      else print(answer as Explanation)
    })
}

function print(explanation: Explanation): void {
  const { problems, route, rule, carriers, charge, country, mccmnc, encoding, segments } = explanation
  const problem = problems.map(({ errorCode, errorMessage }) => `${errorCode}: ${errorMessage}`).join('; ')
  printFields({
    sendable: problem === '' ? true : `no, ${problem}`,
    country,
    mccmnc,
    route: route === null ? null : `${route}, by ${rule === null ? "the plan's own" : `rule ${rule.ruleId}`}`,
    carrier: carrierText(carriers),
    encoding,
    segments,
    price: charge && `${charge.price} ${charge.currency}`,
    ptf: charge && `${charge.ptf} ${charge.currency}`,
    rate: charge && rateText(charge.rate),
  })
  if (carriers.length === 0) return
  process.stdout.write('\n')
  printTable(carriers, {
    CARRIER: 'carrier',
    PRIORITY: 'priority',
    WEIGHT: 'weight',
    CONDITION: 'condition',
    SHARE: 'share',
    REASON: 'reason',
  })
}

function carrierText(carriers: Explanation['carriers']): string {
  const chosen = carriers.filter(({ share }) => share > 0)
  if (chosen.length === 0) return 'none now: it would wait'
  return chosen
    .map(({ carrier, share }) => (share === 100 ? carrier : `${carrier} (${share} %)`))
    .join(' or ')
}

function rateText({ rateId, servicePlanId, mccmnc, prefix, country }: Fields): string {
  const destination = mccmnc ?? prefix ?? country ?? 'anywhere'
  return `${rateId}, to ${destination}, ${servicePlanId === null ? 'of all plans' : 'of the plan'}`
}
