import '@mantine/core/styles.css'
import './kit/kit.css'
import './shell/page.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client.ts'
import { router } from './router.tsx'
import { Appearance } from './shell/appearance.tsx'
import { followFragment, signInFromFragment } from './shell/fragment-sign-in.ts'

// The service puts a new nonce into each answer. Style sheets that scripts add carry it.
const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''

await signInFromFragment()
followFragment()

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <Appearance nonce={nonce}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Appearance>
  </StrictMode>,
)
