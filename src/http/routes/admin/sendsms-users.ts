import { CALLING_CODE, SENDSMS_DLR_URL } from '../../../domain/configuration/configuration.ts'
import { maskedUrl } from '../../../domain/webhooks/callback-url.ts'
import { SENDSMS_USERS } from '../../../operations/configuration/sendsms-users.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { changeBody, Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import { patterned } from '../../validate.ts'
import { NullableText, octetString, pageQuery, SendsmsUsername, ServicePlanId, Timestamp } from './fields.ts'
import type { AdminDeps, AdminScope } from './operations.ts'
import { addConfigured } from './resource.ts'

const Password = patterned(/^[^\p{Cc}\p{Cs}]{1,100}$/u, 'must have 1 to 100 printable characters', {
  description: 'Password; only its hash is stored',
})
const settings = {
  defaultSender: Nullable(
    octetString(16, 1, { description: 'Sender of requests without one; null: they are refused' }),
  ),
  forcedSender: Nullable(
    octetString(16, 1, {
      description: 'Sender of all requests, even of those that name another; null: requests choose it',
    }),
  ),
  callingCode: Nullable(
    patterned(CALLING_CODE, 'must be 1 to 3 digits, the first not 0', {
      description:
        'Country code that replaces the first 0 of a national number; null: such numbers are refused',
      examples: ['44'],
    }),
  ),
  dlrUrl: Nullable(
    patterned(
      SENDSMS_DLR_URL,
      'must be an http or https URL of at most 2048 characters, without credentials, and without % in its host',
      {
        description:
          "URL for reports of requests that have dlr-mask but no dlr-url; null: the account's default",
        examples: ['https://app.example.com/dlr?id=%I&type=%d'],
      },
    ),
  ),
}
export const SendsmsUserCreation = requestBody(
  'SendsmsUserCreation',
  {
    username: SendsmsUsername,
    servicePlanId: ServicePlanId,
    password: Password,
    ...Type.Partial(Type.Object(settings)).properties,
  },
  {
    username: 'tester',
    servicePlanId: '65f0c0ffee65f0c0ffee65f0',
    password: 'foobar',
    defaultSender: 'Aldis',
    callingCode: '44',
  },
)
const Change = changeBody('SendsmsUserChange', SendsmsUserCreation, ['username'], { password: 'raboof' })
const Query = pageQuery(SendsmsUsername, { servicePlanId: Type.Optional(ServicePlanId) })
const SendsmsUser = titled('SendsmsUser', {
  username: Type.String(),
  servicePlanId: Type.String(),
  defaultSender: NullableText,
  forcedSender: NullableText,
  callingCode: NullableText,
  dlrUrl: NullableText,
  createdAt: Timestamp,
})

export function registerSendsmsUsers(scope: AdminScope, deps: AdminDeps): void {
  addConfigured(scope, deps, {
    kind: SENDSMS_USERS,
    path: '/sendsms-users',
    texts: {
      create: 'The user may send with /cgi-bin/sendsms, from the service plan.',
      show: 'Returns its service plan and its senders, without the password.',
      remove: 'Its requests are refused from now on.',
    },
    key: 'username',
    keyField: SendsmsUsername,
    item: SendsmsUser,
    creation: SendsmsUserCreation,
    change: Change,
    query: Query,
    present: (user) => user,
    settings: (user) => ({ ...user, dlrUrl: user.dlrUrl && maskedUrl(user.dlrUrl) }),
  })
}
