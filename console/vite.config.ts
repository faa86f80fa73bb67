import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The service that `vite dev` passes requests on to. */
const SERVICE = process.env.ALDIS_URL ?? 'http://localhost:8080'

export default defineConfig({
  root: folder('.'),
  base: '/console/',
  publicDir: false,
  plugins: [react()],
  build: {
    outDir: folder('../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    // The first that know light-dark() of CSS, of 2024. Its replacement for older ones does not work with Mantine's scheme.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // The policy of the page allows no data: URL but for images, and no inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        chunkFileNames: ({ name, facadeModuleId }) =>
          `assets/${/\/pages\/(\w+)\//.exec(facadeModuleId ?? '')?.[1] ?? name}-[hash].js`,
        // Each page group is a chunk, because the router imports it lazily. What groups share is in these.
        codeSplitting: {
          groups: [
            { name: 'mantine', test: /node_modules\/@(mantine|floating-ui|tabler)\// },
            { name: 'react', test: /node_modules\/(?!uplot)/ },
            // Only pages with charts load it.
            { name: 'chart', test: /node_modules\/uplot\/|src\/kit\/chart\.tsx/ },
            // The searches too, which the router and the pages read: as chunks of their own they would be a dozen tiny files.
            {
              name: 'kit',
              test: /console\/src\/(kit|api)\/(?!chart\.tsx)|client\/src\/|search\.ts$|log\/filters\.ts$|preload-helper/,
            },
          ],
        },
      },
    },
  },
  server: {
    // The API sees the origin that the browser sees, so that cookies and the origin check work as they do when served.
    proxy: { '^/(v1|admin/v1|console/session)': { target: SERVICE, changeOrigin: false } },
  },
})
