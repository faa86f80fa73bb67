import { Box, Text } from '@mantine/core'
import type { PreflightText } from '../../../../client/src/api.ts'

/** The text of each segment, where it is not simply the whole text. */
export function Segments({ text, told }: { text: string; told: PreflightText }) {
  const { segmentTexts } = told
  const isReplaced = segmentTexts.join('') !== text
  if (segmentTexts.length < 2 && !isReplaced) return null
  return (
    <section className="compose-segments" aria-label="Segments">
      <Text size="sm" fw={500}>
        {segmentTexts.length < 2 ? 'Sent as' : `Sent in ${segmentTexts.length} segments`}
      </Text>
      {/* Focusable, so that the keyboard scrolls it. */}
      <Box component="ol" tabIndex={0} aria-label="Texts of the segments">
        {segmentTexts.map((segment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a segment is its place in the text
          <li key={index}>{segment}</li>
        ))}
      </Box>
    </section>
  )
}
