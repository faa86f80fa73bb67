import { AldisAdminClient } from '../../../client/src/admin.ts'
import { AldisClient } from '../../../client/src/index.ts'

// Without a token: the browser adds the cookie of the session.
const baseUrl = location.origin

export const customerClient = new AldisClient({ baseUrl })
export const operatorClient = new AldisAdminClient({ baseUrl })
