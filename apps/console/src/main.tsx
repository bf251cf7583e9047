// First, because it says in which order the layers of styles come.
import './ui/tokens.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client';
import { router } from './router';
import { watchForms } from './ui/dirty';
import { applyTheme } from './ui/theme';

const MOST_RETRIES = 3;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      // What the service refuses stays refused; what it could not do just now is asked for again.
      retry: (failures, error) => failures < MOST_RETRIES && !(error instanceof ApiError && error.status < 500),
    },
  },
});

applyTheme();
watchForms();
createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
