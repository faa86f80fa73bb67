/** The release after this one: the same source, a higher version, and one more migration. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS, migrationsIn } from '../../src/store/schema.ts'
import { ROOT } from '../support/process.ts'

/** As a release may bring it: columns with and without a default, an index of a small table, and one of partitions to come. */
const MIGRATION = `
  alter table messages add column campaign text;
  create index messages_campaign on only messages (plan_id, campaign);
  alter table accounts add column remark text not null default '';
  create index accounts_remark on accounts (remark);`

export interface Release {
  readonly version: string
  /** What `node` runs. */
  readonly main: string
}

export function thisRelease(): Release {
  return { version: manifest().version, main: join(ROOT, 'src', 'main.ts') }
}

/** Makes an installation of it in a folder. */
export function nextRelease(folder: string): Release {
  const version = '99.0.0'
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest(), version }))
  const number = String(migrationsIn(MIGRATIONS).length + 1).padStart(4, '0')
  writeFileSync(join(folder, 'src', 'store', 'migrations', `${number}_campaigns.sql`), MIGRATION)
  return { version, main: join(folder, 'src', 'main.ts') }
}

function manifest(): { version: string } {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
}
