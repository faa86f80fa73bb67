import type { FastifyReply } from 'fastify'

/** In addition to the headers of every answer. */
const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'browsing-topics=(), camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Answers with a page for people. `policy`: what it may load, as a Content-Security-Policy. */
export function sendPage(reply: FastifyReply, policy: string, html: string): FastifyReply {
  const headers = { ...HEADERS, 'content-security-policy': policy }
  return reply.headers(headers).type('text/html; charset=utf-8').send(html)
}

/** The answer when the page has not been built. */
export function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .send('The pages for browsers are not built. To build them, run: npm run build:console\n')
}
