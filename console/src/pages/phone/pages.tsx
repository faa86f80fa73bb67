import './phone.css'

/** The pages of this group, which is one chunk. */

export { Phone } from './phone.tsx'
