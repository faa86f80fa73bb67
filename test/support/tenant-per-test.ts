import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type Service, type ServiceOptions, startService } from './service.ts'
import { type Smsc, startSmsc } from './smsc.ts'

/** Starts one service for the file, and ends it after the last test. Its first tenant has no bind and no webhooks. */
export function serviceOfFile(app: ServiceOptions['app'] = {}): Pick<Service, 'tenant'> {
  let service: Service
  beforeAll(async () => {
    service = await startService({ app, bound: false, webhooks: false, carrier: { state: 'stopped' } })
  })
  afterAll(() => service?.[Symbol.asyncDispose]())
  return { tenant: (options) => service.tenant(options) }
}

/** Gives each test of the file a tenant of one service. The tenant's carrier is an SMSC of the test's own. */
export function tenantPerTest(
  { app, ...options }: ServiceOptions,
  use: (service: Service, smsc: Smsc) => void,
): void {
  const { tenant } = serviceOfFile(app)
  let opened: AsyncDisposable[] = []
  beforeEach(async () => {
    const smsc = await startSmsc()
    opened = [smsc]
    const service = await tenant({ ...options, smscPort: smsc.port })
    opened.unshift(service)
    use(service, smsc)
  })
  afterEach(async () => {
    for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
  })
}
