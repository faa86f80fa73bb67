import type { DevState } from './dev-state.ts'

export interface Ready {
  readonly baseUrl: string
  readonly servicePlanId: string
  readonly token: string
  readonly operatorToken: string
  readonly sender: string
  readonly inboundNumber: string
}

/** What `aldis dev` prints once everything answers. The fragment of the console's address signs in at once. */
export function banner(ready: Ready, dataDir: string): string {
  const signIn = `customer=${ready.token}&operator=${ready.operatorToken}`
  return `
Aldis is ready.

  Console          ${ready.baseUrl}/console/#${signIn}
  API              ${ready.baseUrl}    (OpenAPI: ${ready.baseUrl}/openapi.json)
  token            ${ready.token}
  operator token   ${ready.operatorToken}
  service plan     ${ready.servicePlanId}
  sender           ${ready.sender}
  inbound number   ${ready.inboundNumber}
  carrier          simulated: nothing is sent to anybody
  data             ${dataDir}

Send a message:

  curl -i ${ready.baseUrl}/v1/sendsms \\
    -H 'Authorization: Bearer ${ready.token}' -H 'Content-Type: application/json' \\
    -d '{"servicePlanId":"${ready.servicePlanId}","channel":"SMS","from":"${ready.sender}","to":"+15551230001","body":"Hello"}'

Ctrl-C stops it; data and tokens stay.

`
}

/** The same as shell variables. No value has a character that a shell would read. */
export function environment(state: DevState): string {
  const variables = {
    ALDIS_URL: state.baseUrl,
    ALDIS_TOKEN: state.token,
    ALDIS_PLAN: state.servicePlanId,
    ALDIS_OPERATOR_TOKEN: state.operatorToken,
    ALDIS_LISTENER: state.listenUrl,
  }
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${value}\n`)
    .join('')
}
