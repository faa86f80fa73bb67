import { describe } from 'vitest'
import { testAnswering, testHanging } from './hostile-receivers.ts'

/** Every way of a receiver to fail. The short form, hostile-receivers.test.ts, has one of each kind. */

describe('a receiver that answers, or ends the connection', () => testAnswering())

describe('a receiver that hangs', () => testHanging())
