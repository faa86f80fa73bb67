import { statfsSync } from 'node:fs'

export const RAM_DISK = '/dev/shm'

/** Whether there is one with this many octets free. */
export function ramDiskHas(octets: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(RAM_DISK)
    return bavail * bsize > octets
  } catch {
    return false
  }
}
