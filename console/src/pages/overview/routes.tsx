import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute, operatorRoute } from '../../shell/routes.tsx'
import { overviewSearchOf } from './search.ts'

const pages = () => import('./pages.tsx')

export const overviewRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/',
      validateSearch: overviewSearchOf,
      component: lazyRouteComponent(pages, 'CustomerOverview'),
    }),
  ] as const,
  operator: [
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/',
      validateSearch: overviewSearchOf,
      component: lazyRouteComponent(pages, 'OperatorOverview'),
    }),
  ] as const,
}
