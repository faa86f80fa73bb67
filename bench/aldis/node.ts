import { join } from 'node:path'
import { type Child, script } from '../children.ts'
import type { Rig } from '../rig.ts'
import type { ServiceConfig } from './app-options.ts'
import type { ServiceReady } from './service.ts'

/** Starts a node without workers. `databaseUrl` null: it starts a PostgreSQL of its own. */
export async function startNode(
  rig: Rig,
  { nodeName, ...given }: Pick<ServiceConfig, 'nodeName' | 'operatorToken' | 'databaseUrl'>,
): Promise<ServiceReady & { readonly service: Child<ServiceReady> }> {
  const dataDir = join(rig.folder, 'data')
  const config: ServiceConfig = {
    ...given,
    nodeName,
    dataDir,
    logLevel: 'warn',
    caPem: null,
    workers: 1,
    explain: false,
  }
  const program = script('aldis/service.ts', JSON.stringify(config))
  const service = rig.child<ServiceReady>(nodeName, program, { logFile: rig.serviceLog })
  return { service, ...(await service.ready()) }
}
