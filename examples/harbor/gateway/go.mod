module harbor.example/gateway

go 1.19
