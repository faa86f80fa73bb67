import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute, operatorRoute } from '../../shell/routes.tsx'
import { customerSearch, operatorSearch } from './search.ts'

const pages = () => import('./pages.tsx')

export const webhookRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/webhooks',
      validateSearch: customerSearch,
      component: lazyRouteComponent(pages, 'CustomerWebhooks'),
    }),
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/webhooks/events/$eventId',
      component: lazyRouteComponent(pages, 'CustomerWebhookEvent'),
    }),
  ] as const,
  operator: [
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/webhooks',
      validateSearch: operatorSearch,
      component: lazyRouteComponent(pages, 'OperatorWebhooks'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/webhooks/events/$eventId',
      component: lazyRouteComponent(pages, 'OperatorWebhookEvent'),
    }),
  ] as const,
}
