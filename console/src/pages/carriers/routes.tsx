import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { timeSpanOf } from '../../kit/time-span.tsx'
import { operatorRoute } from '../../shell/routes.tsx'
import { explainSearchOf } from './explain-search.ts'

const pages = () => import('./pages.tsx')

export const carrierRoutes = {
  operator: [
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/carriers',
      component: lazyRouteComponent(pages, 'Carriers'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/carriers/$name',
      component: lazyRouteComponent(pages, 'Carrier'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/quality',
      validateSearch: timeSpanOf,
      component: lazyRouteComponent(pages, 'Quality'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/explain',
      validateSearch: explainSearchOf,
      component: lazyRouteComponent(pages, 'RouteExplanation'),
    }),
  ] as const,
}
