import { Text } from '@mantine/core'

/** In the place of a value that there is not. */
export function NoValue() {
  return (
    <Text span c="dimmed" inherit aria-label="none" role="img">
      –
    </Text>
  )
}
