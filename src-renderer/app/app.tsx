import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import type { Client } from '../bridge/client.ts';
import { ClientProvider, createQueryClient } from '../bridge/queries.tsx';
import { Gate } from './gate.tsx';
import { deskTheme } from './theme.ts';
import { deskVariables } from './theme-variables.ts';

interface AppProps {
  readonly client: Client;
  readonly nonce: string;
}

/** The whole desk around one client. */
export function App({ client, nonce }: AppProps) {
  const [queries] = useState(createQueryClient);
  return (
    <MantineProvider
      theme={deskTheme}
      defaultColorScheme="auto"
      cssVariablesResolver={deskVariables}
      getStyleNonce={() => nonce}
    >
      <Notifications position="bottom-right" limit={3} />
      <QueryClientProvider client={queries}>
        <ClientProvider client={client}>
          <Gate />
        </ClientProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}
