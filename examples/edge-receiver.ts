/**
 * A receiver of webhooks for edge runtimes (Cloudflare Workers, Deno, Vercel Edge …): Request in, Response out, with
 * nothing that is Node's. What it keeps events in is a key-value store: written under the id of the event, an event that
 * comes twice is there once.
 */
import { verifyWebhook, WebhookVerificationError } from '../client/src/index.ts'

export interface Env {
  /** `whsec_…`; two, separated by a space, while a secret is being rotated. */
  readonly ALDIS_WEBHOOK_SECRETS: string
  /** A queue or a table does as well. */
  readonly EVENTS: { put(key: string, value: string): Promise<void> }
}

/** Far above any webhook. */
const MAX_BODY_BYTES = 1024 * 1024

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } })
    // The runtime bounds what does not say how long it is.
    const length = Number(request.headers.get('content-length') ?? 0)
    if (length > MAX_BODY_BYTES) return new Response(null, { status: 413 })
    const rawBody = await request.arrayBuffer()
    try {
      const event = await verifyWebhook(request.headers, rawBody, env.ALDIS_WEBHOOK_SECRETS.split(' '))
      // Answered when it is kept; what is done with it is done from there.
      if (!event.test) await env.EVENTS.put(event.eventId, JSON.stringify(event))
      return new Response(null, { status: 200 })
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      return new Response(null, { status: error.code === 'INVALID_SECRET' ? 500 : 401 })
    }
  },
}
