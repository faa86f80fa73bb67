import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { operatorRoute } from '../../shell/routes.tsx'

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
      component: lazyRouteComponent(pages, 'Quality'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/explain',
      component: lazyRouteComponent(pages, 'RouteExplanation'),
    }),
  ] as const,
}
