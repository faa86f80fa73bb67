/** A separate disk for the database, small enough to be filled. Needs Linux and root. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SIZE = '2g'

export interface SmallDisk {
  /** An empty folder on it. */
  readonly path: string
  unmount(): void
}

/** null: this machine does not allow it. */
export function mountSmallDisk(): SmallDisk | null {
  const mount = mkdtempSync(join(tmpdir(), 'aldis-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', mount])
  if (status !== 0) {
    rmdirSync(mount)
    return null
  }
  const path = join(mount, 'database')
  mkdirSync(path)
  return {
    path,
    unmount() {
      spawnSync('umount', ['--lazy', mount])
      rmdirSync(mount)
    },
  }
}
