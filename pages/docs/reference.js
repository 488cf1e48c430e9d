// Everything comes from this origin: no fonts, no telemetry, no proxy and no assistant of others.
Scalar.createApiReference('#reference', {
  url: 'reference.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  documentDownloadType: 'none',
  persistAuth: false,
  authentication: { preferredSecurityScheme: 'apiKey' },
  // Each operation has its own samples.
  hiddenClients: true,
});
