import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { DeliveryReceipt, SendSmsRequest } from '../../../../client/src/api.ts'
import { customerClient } from '../../api/clients.ts'
import { newKey } from './draft.ts'

export interface Sending {
  /** The Idempotency-Key of the message as it is now. */
  readonly key: string
  /** A key of the person's own; empty: one is made for each message. */
  readonly ownKey: string
  readonly setOwnKey: (key: string) => void
  readonly send: () => void
  readonly isSending: boolean
  readonly sent: DeliveryReceipt | undefined
  readonly error: Error | null
  /** The message has changed, or the same is to be sent once more: it is another one from here on. */
  readonly renew: () => void
}

/** Sends a message once, however often one clicks: the key stays the same until the message changes. */
export function useSending(request: SendSmsRequest | null): Sending {
  const [madeKey, setMadeKey] = useState(newKey)
  const [ownKey, setOwnKey] = useState('')
  const key = ownKey === '' ? madeKey : ownKey
  const queries = useQueryClient()
  const { mutate, reset, isPending, data, error } = useMutation({
    mutationFn: (request: SendSmsRequest) => customerClient.sendSms(request, { idempotencyKey: key }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['customer', 'listMessages'] }),
  })
  return {
    key,
    ownKey,
    setOwnKey: (ownKey) => {
      setOwnKey(ownKey)
      reset()
    },
    send: () => request !== null && mutate(request),
    isSending: isPending,
    sent: data,
    error,
    renew: () => {
      setMadeKey(newKey())
      reset()
    },
  }
}
