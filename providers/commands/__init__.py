"""From what a site has to a command that runs there: launchers, containers, threads. Pure; nothing is asked here."""
