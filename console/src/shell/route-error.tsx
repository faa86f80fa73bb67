import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ErrorState } from '../kit/error-state.tsx'

/** In the place of a page that threw while it was rendered, or whose code could not be loaded. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  return <ErrorState error={error} onRetry={retry} />
}
