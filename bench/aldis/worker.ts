import { startApp } from '../../src/app.ts'
import { createLog } from '../../src/log.ts'
import { serveParent } from '../parent.ts'
import { appOptions, type WorkerPlace } from './app-options.ts'
import type { ServiceConfig } from './service.ts'

/** Another process of the service, for `--workers`; service.ts is the first. */

const config = JSON.parse(process.argv[2] ?? '{}') as ServiceConfig
const place = JSON.parse(process.argv[3] ?? '{}') as WorkerPlace
const app = await startApp(appOptions(config, createLog(config.logLevel), place))
serveParent({}, {}, () => app.stop())
