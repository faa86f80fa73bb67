import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { upsertSenderSubscription } from '../../../src/store/sender-subscriptions.ts'
import { faultsOf, pagesFrom } from '../../support/http-answers.ts'
import {
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_OTHER,
  PLAN_SECOND,
  startHttpService,
  storePlans,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import type { HttpAnswer } from '../../support/raw-http.ts'

/** `read-access.test.ts` has who may read. */

const asOther = { authorization: `Bearer ${TOKEN_OTHER}` }

let service: HttpService
beforeAll(async () => {
  service = await startHttpService({ plan: { senderTypes: new Set(['alphanumeric', 'e164']) } })
  await storePlans(service)
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => service.db.query('delete from sender_subscriptions'))

function list(query = '', plan = PLAN, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  return service.get(`/v1/senders?servicePlanId=${plan}${query}`, headers)
}

async function subscribe(planId: number, senders: Readonly<Record<string, string>>): Promise<void> {
  for (const [sender, status] of Object.entries(senders))
    await upsertSenderSubscription(service.db, planId, sender, status)
}

describe('GET /v1/senders', () => {
  it('200 has each sender of the plan, its kind, its status, and whether a send from it is accepted', async () => {
    await subscribe(1, {
      '+15550001111': 'approved',
      '12345': 'approved',
      Aldis: 'approved',
      Denied: 'denied',
      Odd: 'suspected of spam',
      Pending: 'pending',
    })
    const { status, json } = await list()
    expect(status).toBe(200)
    expect(json).toEqual({
      items: [
        { sender: '+15550001111', type: 'e164', status: 'approved', allowed: true },
        { sender: '12345', type: 'short-code', status: 'approved', allowed: false },
        { sender: 'Aldis', type: 'alphanumeric', status: 'approved', allowed: true },
        { sender: 'Denied', type: 'alphanumeric', status: 'denied', allowed: false },
        { sender: 'Odd', type: 'alphanumeric', status: 'other', allowed: false },
        { sender: 'Pending', type: 'alphanumeric', status: 'pending', allowed: false },
      ],
      pagination: { limit: 20, hasMore: false, nextCursor: null },
    })
  })

  it('200 is empty for a plan without senders, and works for one that is not active', async () => {
    expect((await list()).json.items).toEqual([])
    expect((await list('', PLAN_INACTIVE)).status).toBe(200)
  })

  it('200 has the senders of no other plan', async () => {
    await subscribe(1, { Mine: 'approved' })
    await subscribe(2, { Second: 'approved' })
    await subscribe(6, { Theirs: 'approved' })
    const namesOf = async (plan: string, headers = {}) =>
      (await list('', plan, headers)).json.items.map(({ sender }: { sender: string }) => sender)
    expect(await namesOf(PLAN)).toEqual(['Mine'])
    expect(await namesOf(PLAN_SECOND)).toEqual(['Second'])
    expect(await namesOf(PLAN_OTHER, asOther)).toEqual(['Theirs'])
  })

  it('200 goes on page by page', async () => {
    await subscribe(1, { A1: 'approved', B2: 'approved', C3: 'approved' })
    const pages = await pagesFrom((query) => list(`&${query}`), 'limit=2')
    expect(pages.map(({ json }) => json.items.map(({ sender }: { sender: string }) => sender))).toEqual([
      ['A1', 'B2'],
      ['C3'],
    ])
  })

  it.each([
    ['', 'servicePlanId REQUIRED'],
    ['?servicePlanId=1', 'servicePlanId INVALID_FORMAT'],
    [`?servicePlanId=${PLAN}&limit=0`, 'limit INVALID_FORMAT'],
    [`?servicePlanId=${PLAN}&cursor=x`, 'cursor INVALID_CURSOR'],
  ])('400 to %s', async (query, fault) => {
    expect(faultsOf(await service.get(`/v1/senders${query}`))).toEqual([fault])
  })
})
