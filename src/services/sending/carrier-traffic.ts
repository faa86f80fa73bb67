import type { Directory } from '../../domain/directory.ts'
import type { Database } from '../../store/database.ts'
import { BindLeases } from '../links/bind-leases.ts'
import type { LinkTimings } from '../links/carrier-link.ts'
import { CarrierLinks } from '../links/carrier-links.ts'
import { CarrierConditions } from './carrier-conditions.ts'
import { type LinkListeners, linkEvents } from './link-events.ts'
import type { SubmitToken } from './submit-job.ts'
import { Submitter, type SubmitterOptions } from './submitter.ts'

export interface CarrierTrafficOptions
  extends Omit<SubmitterOptions, 'links' | 'conditions' | 'outOfUse'>,
    Pick<LinkListeners, 'quality' | 'receiver' | 'onAnomaly'> {
  readonly db: Database
  readonly timings: LinkTimings
}

/** What goes to the carriers and comes from them: submitter, links, binds and conditions, each of which needs the others. */
export function carrierTraffic(options: CarrierTrafficOptions) {
  const { quality, receiver, onAnomaly, timings, log } = options
  const conditions = new CarrierConditions({
    ...options,
    here: (carrierId) => submitter.linkCondition(carrierId),
    onHanded: () => submitter.takeHanded(),
  })
  const submitter: Submitter = new Submitter({
    ...options,
    conditions,
    links: () => links,
    outOfUse: (routeId, carrierId) => quality.outOfUse(routeId, carrierId),
  })
  const links: CarrierLinks<SubmitToken> = new CarrierLinks({
    events: linkEvents({ submitter, receiver, quality, onAnomaly }),
    timings,
    log,
    holds: (carrierId, bind) => binds.holds(carrierId, bind),
  })
  const binds = new BindLeases({
    ...options,
    links: () => links,
  })
  const follow = (changed: Directory) => {
    links.follow(changed)
    binds.refresh()
    submitter.follow()
  }
  return { submitter, links, binds, conditions, follow }
}
