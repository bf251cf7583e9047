// First, because it says in which order the layers of styles come.
import './ui/tokens.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client';
import { router } from './router';
import { isUnsaved, mayDiscard } from './ui/dirty';
import { applyTheme } from './ui/theme';

const MOST_RETRIES = 3;
/** A service that wants to be asked again so soon (s) is, before the page says anything. */
const SOON_S = 2;
const LONGEST_PAUSE_MS = 30_000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      // What the service refuses stays refused; what it could not do just now is asked for again.
      retry: (failures, error) => failures < MOST_RETRIES && !(error instanceof ApiError && isForPage(error)),
      retryDelay: (failures, error) => {
        const asked = error instanceof ApiError ? error.more.retryAfter : undefined;
        return asked === undefined ? Math.min(1000 * 2 ** failures, LONGEST_PAUSE_MS) : Math.max(asked, 0.5) * 1000;
      },
    },
  },
});

/** True for an answer that the page shows at once; where the service is away for longer, it counts down. */
function isForPage({ status, more }: ApiError): boolean {
  return status < 500 || (more.retryAfter ?? 0) > SOON_S;
}

applyTheme();
// While something that was typed is not saved, the page asks before it goes on to another one, and so does the browser.
router.history.block({ blockerFn: async () => !(await mayDiscard()), enableBeforeUnload: isUnsaved });
createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
