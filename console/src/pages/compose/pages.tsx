import './compose.css'

/** The pages of this group, which is one chunk. */

export { Compose } from './compose.tsx'
