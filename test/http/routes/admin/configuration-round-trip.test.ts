import { test } from 'vitest'
import { adminServerOfFile } from '../../../support/admin-server.ts'
import { compareExports } from './configuration-round-trip.ts'

const server = await adminServerOfFile()

test('export, then apply, changes nothing: 10 configurations', () => compareExports(server, 10))
