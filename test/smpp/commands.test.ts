import { expect, test } from 'vitest'
import { COMMANDS, COMMANDS_BY_ID, COMMANDS_BY_NAME, RESPONSE_BIT } from '../../src/smpp/commands.ts'

test.each(Object.entries(COMMANDS))('%s is found by id and by name', (name, command) => {
  expect(COMMANDS_BY_ID.get(command.id)?.name).toBe(name)
  expect(COMMANDS_BY_NAME.get(name)?.id).toBe(command.id)
})

test.each(Object.entries(COMMANDS).filter(([, command]) => command.response !== null))(
  '%s has a response whose id is its own with the response bit (§5.1.2)',
  (_name, command) => {
    expect(COMMANDS_BY_NAME.get(command.response!)?.id).toBe(command.id + RESPONSE_BIT)
  },
)

test('the names of Object.prototype are no commands', () => {
  expect(COMMANDS_BY_NAME.get('constructor')).toBeUndefined()
})
