/** The command that sends this body; the token comes from the shell. */
export function curlOf(body: object, idempotencyKey?: string): string {
  return [
    `curl -i ${location.origin}/v1/sendsms`,
    '-H "Authorization: Bearer $ALDIS_TOKEN"',
    "-H 'Content-Type: application/json'",
    ...(idempotencyKey === undefined ? [] : [`-H ${quoted(`Idempotency-Key: ${idempotencyKey}`)}`]),
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ')
}

/** As a POSIX shell reads it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
