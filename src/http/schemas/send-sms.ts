import { Type } from 'typebox'
import { fieldFaults, MAX_BODY_CHARACTERS } from '../../domain/send-requests.ts'
import { patterned, ruled } from '../validate.ts'
import { oneOf } from './nullable.ts'

/** The domain judges addresses and text, by the same rules for every entrance, and the callback guard the URL. */
export const SendSmsSchema = ruled(
  Type.Object(
    {
      servicePlanId: patterned(/^[a-fA-F0-9]{24}$/, 'must be 24 hex digits', {
        examples: ['65f0c0ffee65f0c0ffee65f0'],
        description: '24 hex digits',
      }),
      channel: oneOf(['SMS']),
      from: Type.String({
        examples: ['12345', '+15550001111', 'Aldis'],
        description:
          'A sender of a kind that plan and destination allow: short code of 3-8 digits, E.164 number, or up to 11 letters, digits, space . _ - & with at least one letter',
      }),
      to: Type.String({ examples: ['+15551230001'], description: 'One E.164 number' }),
      body: Type.String({
        minLength: 1,
        maxLength: MAX_BODY_CHARACTERS,
        description: 'Text, in code points; no U+0000',
      }),
      callbackUrl: Type.Optional(
        Type.String({ format: 'uri', description: 'Public https URL for delivery receipts of this message' }),
      ),
    },
    {
      title: 'SendSmsRequest',
      examples: [
        {
          servicePlanId: '65f0c0ffee65f0c0ffee65f0',
          channel: 'SMS',
          from: 'Aldis',
          to: '+15551230001',
          body: 'Your code is 271828',
          callbackUrl: 'https://hooks.example.com/receipts',
        },
      ],
    },
  ),
  fieldFaults,
)
