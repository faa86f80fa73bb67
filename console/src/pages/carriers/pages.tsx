/** The pages of this group, which is one chunk. */

export { Carrier } from './carrier.tsx'
export { Carriers } from './carriers.tsx'
export { Quality } from './quality.tsx'
export { RouteExplanation } from './route-explanation.tsx'
