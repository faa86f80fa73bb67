/** A disk of its own for the database, small enough to be filled. Linux, as root. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SIZE = '2g'

export interface SmallDisk {
  readonly path: string
  unmount(): void
}

/** null: this machine does not let us. */
export function mountSmallDisk(): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'aldis-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', path])
  if (status !== 0) {
    rmdirSync(path)
    return null
  }
  return {
    path,
    unmount() {
      spawnSync('umount', ['--lazy', path])
      rmdirSync(path)
    },
  }
}
