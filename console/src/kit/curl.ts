interface Send {
  readonly servicePlanId: string
  readonly from: string
  readonly to: string
  readonly body: string
}

/** The command that sends this message; the token comes from the shell. */
export function curlOf({ servicePlanId, from, to, body }: Send): string {
  const json = JSON.stringify({ servicePlanId, channel: 'SMS', from, to, body })
  return [
    `curl -i ${location.origin}/v1/sendsms`,
    '-H "Authorization: Bearer $ALDIS_TOKEN"',
    "-H 'Content-Type: application/json'",
    `-d '${json.replaceAll("'", `'\\''`)}'`,
  ].join(' \\\n  ')
}
