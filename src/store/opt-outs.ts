import type { Queryable } from './database.ts'

// `= any (array[…])` and `offset 0`, where a batch meets a table by its key: docs/adr/0006.

/** A person and a sender they deal with, in a plan. */
export interface OptOutPair {
  readonly planId: number
  /** As `from` of a send. */
  readonly sender: string
  /** As `to` of a send. */
  readonly recipient: string
}

/** The message that answers a person, if there is one. */
export interface OptOutReply extends OptOutPair {
  readonly replyId: string
}

/** What a person wants from now on; at most one for each pair. */
export interface OptOutChange extends OptOutReply {
  readonly optsOut: boolean
}

/** Records or ends opt-outs; returns the `reply_id` of those that changed something. */
export async function changeOptOuts(db: Queryable, changes: readonly OptOutChange[]): Promise<string[]> {
  const { rows } = await db.query<{ replyId: string }>({
    name: 'change_opt_outs',
    text: `
      with input as (
        select * from json_to_recordset($1) as i (
          "planId" integer, sender text, recipient text, "optsOut" boolean, "replyId" uuid)
      ), ended as (
        delete from opt_outs o using input i
        where not i."optsOut" and o.plan_id = any (array[i."planId"]) and o.sender = i.sender and o.recipient = i.recipient
        returning i."replyId"
      ), kept as (
        insert into opt_outs (plan_id, sender, recipient, confirmation)
        select "planId", sender, recipient, "replyId" from input where "optsOut" order by 1, 2, 3
        on conflict do nothing
        returning confirmation
      )
      select "replyId" from ended union all select confirmation from kept`,
    values: [JSON.stringify(changes)],
  })
  return rows.map((row) => row.replyId)
}

/** The latest answer to a person is sent although they have opted out. An earlier answer that still waits is not. */
export async function letRepliesOut(db: Queryable, replies: readonly OptOutReply[]): Promise<void> {
  await db.query({
    name: 'let_replies_out',
    text: `
      update opt_outs o set confirmation = i."replyId"
      from json_to_recordset($1) as i ("planId" integer, sender text, recipient text, "replyId" uuid)
      where o.plan_id = any (array[i."planId"]) and o.sender = i.sender and o.recipient = i.recipient
        and o.confirmation is distinct from i."replyId"`,
    values: [JSON.stringify(replies)],
  })
}

/** Those of these pairs whose person has opted out. */
export async function findOptOuts(db: Queryable, pairs: readonly OptOutPair[]): Promise<OptOutPair[]> {
  const { rows } = await db.query<OptOutPair>({
    name: 'find_opt_outs',
    text: `
      select i.* from json_to_recordset($1) as i ("planId" integer, sender text, recipient text)
      where exists (
        select from opt_outs where plan_id = i."planId" and sender = i.sender and recipient = i.recipient offset 0)`,
    values: [JSON.stringify(pairs)],
  })
  return rows
}

// For the operator.

export interface OptOutRecord {
  readonly sender: string
  readonly recipient: string
  readonly createdAt: Date
}

/** Adds new opt-outs and returns how many. Skips those of plans that do not exist, and returns these plans. */
export async function insertOptOuts(
  db: Queryable,
  optOuts: readonly { servicePlanId: string; sender: string; recipient: string }[],
): Promise<{ created: number; missingPlans: readonly string[] }> {
  const { rows } = await db.query<{ created: number; missingPlans: string[] }>(
    `with wanted as (
       select p.id as plan_id, w.* from json_to_recordset($1) as w ("servicePlanId" text, sender text, recipient text)
       left join service_plans p on p.service_plan_id = w."servicePlanId"
     ), written as (
       insert into opt_outs (plan_id, sender, recipient)
       select plan_id, sender, recipient from wanted where plan_id is not null order by 1, 2, 3
       on conflict do nothing
       returning 1
     )
     select (select count(*)::integer from written) as created,
            array(select distinct "servicePlanId" from wanted where plan_id is null) as "missingPlans"`,
    [JSON.stringify(optOuts)],
  )
  return rows[0]!
}

/** By sender and recipient, behind `after`; of one sender or recipient where it is given. */
export async function listOptOuts(
  db: Queryable,
  planId: number,
  page: {
    after: { sender: string; recipient: string }
    limit: number
    sender: string | null
    recipient: string | null
  },
): Promise<OptOutRecord[]> {
  const { rows } = await db.query<OptOutRecord>(
    `select sender, recipient, created_at as "createdAt" from opt_outs
     where plan_id = $1 and (sender, recipient) > ($2, $3)
       and ($5::text is null or sender = $5) and ($6::text is null or recipient = $6)
     order by sender, recipient limit $4`,
    [planId, page.after.sender, page.after.recipient, page.limit, page.sender, page.recipient],
  )
  return rows
}

/** False when there is none. */
export async function deleteOptOut(
  db: Queryable,
  planId: number,
  sender: string,
  recipient: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    'delete from opt_outs where plan_id = $1 and sender = $2 and recipient = $3',
    [planId, sender, recipient],
  )
  return rowCount === 1
}

/** Whether the person of each pair has opted out. */
export async function areOptedOut(db: Queryable, pairs: readonly OptOutPair[]): Promise<readonly boolean[]> {
  const found = new Set((await findOptOuts(db, pairs)).map(textOf))
  return pairs.map((pair) => found.has(textOf(pair)))
}

function textOf({ planId, sender, recipient }: OptOutPair): string {
  return JSON.stringify([planId, sender, recipient])
}
