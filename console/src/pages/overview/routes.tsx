import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute, operatorRoute } from '../../shell/routes.tsx'

const pages = () => import('./pages.tsx')

export const overviewRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/',
      component: lazyRouteComponent(pages, 'CustomerOverview'),
    }),
  ] as const,
  operator: [
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/',
      component: lazyRouteComponent(pages, 'OperatorOverview'),
    }),
  ] as const,
}
