import { expect, test } from 'vitest'
import { databaseAddresses } from '../src/database-url.ts'

test('one server stays as it is written', () => {
  const url = 'postgresql://u:p%40s@db.example:5432/aldis?host=%2Fvar%2Frun&sslmode=verify-full'
  expect(databaseAddresses(url)).toEqual({ addresses: [url] })
})

test('several become one address each, in their order, with the same user, database and parameters', () => {
  expect(databaseAddresses('postgres://u:p@one,[::1]:5433,10.0.0.3:6000/aldis?sslmode=require')).toEqual({
    addresses: [
      'postgres://u:p@one/aldis?sslmode=require',
      'postgres://u:p@[::1]:5433/aldis?sslmode=require',
      'postgres://u:p@10.0.0.3:6000/aldis?sslmode=require',
    ],
  })
})

test.each(['read-write', 'primary'])('target_session_attrs=%s is what is done anyway', (wanted) => {
  expect(databaseAddresses(`postgresql://u@one,two/a?target_session_attrs=${wanted}`)).toEqual({
    addresses: ['postgresql://u@one/a', 'postgresql://u@two/a'],
  })
})

test.each([
  ['another scheme', 'mysql://u@db/x'],
  ['no scheme', 'db.example'],
  ['an empty host among several', 'postgresql://u@one,,two/a'],
  ['a port that is none', 'postgresql://u@one,two:http/a'],
  ['more hosts than anybody has', `postgresql://u@${Array(9).fill('h').join(',')}/a`],
  ['a standby that is asked for', 'postgresql://u@one,two/a?target_session_attrs=standby'],
])('%s is refused', (_, url) => {
  expect(databaseAddresses(url)).toEqual({ fault: expect.any(String) })
})
