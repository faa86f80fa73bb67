import { VALIDITY_SECONDS } from '../../domain/configuration/configuration.ts'
import type { ImportedConfiguration, Place } from './imported-configuration.ts'

/** What a carrier takes. */
const LIMITS = {
  binds: { least: 1, most: 32 },
  window: { least: 1, most: 1_000 },
  messagesPerSecond: { least: 1, most: 1_000_000 },
  validitySeconds: VALIDITY_SECONDS,
} as const
export type Limited = keyof typeof LIMITS

/** The whole number nearest to a value that a carrier takes, which is reported if it is another. */
export function within(
  imported: ImportedConfiguration,
  place: Place,
  name: string,
  setting: Limited,
  value: number,
): number {
  const { least, most } = LIMITS[setting]
  const taken = Math.min(Math.max(Math.round(value), least), most)
  if (taken !== value)
    imported.drop(
      place,
      name,
      `${setting} is ${taken}, not ${value}: a whole number from ${least} to ${most}`,
    )
  return taken
}
