import { Type } from 'typebox'
import { createdAtMs } from '../../../domain/message-ids.ts'
import { AppError } from '../../../errors.ts'
import { findMessageForOperator, listUnownedInbound } from '../../../store/messages-admin.ts'
import { shownUrl } from './callback-urls.ts'
import { limitOf, MessageId, Nullable, page, pageOf, pageQuery, Timestamp } from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const NullableText = Nullable(Type.String())
const Message = Type.Object({
  accountId: Type.String(),
  servicePlanId: Type.String(),
  msgId: Type.String(),
  status: Type.String(),
  from: Type.String(),
  to: Type.String(),
  body: Type.String(),
  segments: Type.Integer(),
  callbackUrl: NullableText,
  country: NullableText,
  mccmnc: NullableText,
  errorCode: Type.String(),
  carrier: NullableText,
  carrierCode: Nullable(Type.String({ description: "the carrier's own status or error" })),
  submissions: Type.Array(
    Type.Object({ segment: Type.Integer(), carrierMessageId: Type.String(), carrier: NullableText }),
  ),
  createdAt: Timestamp,
  sentAt: Nullable(Timestamp),
  updatedAt: Timestamp,
})
const UnownedInbound = Type.Object({
  msgId: Type.String(),
  carrier: NullableText,
  from: Type.String(),
  to: Type.String(),
  body: Type.String(),
  receivedAt: Timestamp,
})

export function registerMessages(scope: AdminScope, { db, secretKey }: AdminDeps): void {
  const tags = ['messages']

  scope.get(
    '/messages/:msgId',
    { schema: { tags, params: Type.Object({ msgId: MessageId }), response: answers(200, Message) } },
    async ({ params }) => {
      const message = await findMessageForOperator(db, params.msgId)
      if (message === undefined) throw new AppError('MESSAGE_NOT_FOUND')
      const { sender, recipient, ...rest } = message
      return {
        ...rest,
        callbackUrl: shownUrl(secretKey, message.callbackUrl),
        from: sender,
        to: recipient,
        createdAt: createdAtOf(message.msgId),
        sentAt: message.sentAt?.toISOString() ?? null,
        updatedAt: message.updatedAt.toISOString(),
      }
    },
  )

  const Query = pageQuery(MessageId, {})
  scope.get(
    '/unowned-inbound-messages',
    { schema: { tags, querystring: Query, response: answers(200, pageOf(UnownedInbound)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const rows = await listUnownedInbound(db, { before: query.after ?? null, limit: fetched })
      return page(
        rows,
        shown,
        (row) => row.msgId,
        ({ msgId, carrier, sender, recipient, body }) => ({
          msgId,
          carrier,
          from: sender,
          to: recipient,
          body,
          receivedAt: createdAtOf(msgId),
        }),
      )
    },
  )
}

function createdAtOf(msgId: string): string {
  return new Date(createdAtMs(msgId)).toISOString()
}
